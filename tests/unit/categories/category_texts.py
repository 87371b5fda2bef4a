"""Short texts about cooking, space and football in three languages, written for these tests."""

from __future__ import annotations

from gossamer.categories.examples import Example

SENTENCES = {
    "cooking": [
        "Peel the onions and fry them slowly in butter until they are golden.",
        "Add salt, pepper and a spoon of vinegar to the boiling soup.",
        "Knead the dough for ten minutes and let it rise in a warm kitchen.",
        "Bake the bread in a hot oven until the crust is brown.",
        "Serve the soup with sour cream and fresh dill from the garden.",
        "Stir the sauce with a wooden spoon, so that the butter does not burn.",
        "Очистите лук и медленно обжарьте его в масле до золотистого цвета.",
        "Добавьте соль, перец и ложку уксуса в кипящий суп.",
        "Месите тесто десять минут и дайте ему подняться на тёплой кухне.",
        "Выпекайте хлеб в горячей духовке, пока корочка не потемнеет.",
        "Подавайте суп со сметаной и свежим укропом.",
        "Мешайте соус деревянной ложкой, чтобы масло не подгорело.",
        "把洋葱剥皮,用黄油慢慢炒至金黄色。",
        "在煮沸的汤里加入盐、胡椒和一勺醋。",
        "揉面团十分钟,然后放在温暖的厨房里发酵。",
        "把面包放进热烤箱,烤到外皮变成棕色。",
        "汤配上酸奶油和新鲜的莳萝一起吃。",
        "用木勺搅拌酱汁,不要让黄油烧焦。",
    ],
    "space": [
        "The telescope found a planet in the orbit of a distant star.",
        "A rocket carried the satellite beyond the atmosphere of the Earth.",
        "Astronomers measured the light of the galaxy for three years.",
        "The probe took pictures of craters on the moon and on Mars.",
        "The crew of the station repaired an antenna in open space.",
        "A comet with a long tail passed the planet at a safe distance.",
        "Телескоп нашёл планету на орбите далёкой звезды.",
        "Ракета вывела спутник за пределы атмосферы Земли.",
        "Астрономы три года измеряли свет галактики.",
        "Зонд сфотографировал кратеры на Луне и на Марсе.",
        "Экипаж станции починил антенну в открытом космосе.",
        "Комета с длинным хвостом прошла мимо планеты на безопасном расстоянии.",
        "望远镜发现了一颗遥远恒星轨道上的行星。",
        "火箭把卫星送到了地球大气层之外。",
        "天文学家用三年时间测量了星系的光。",
        "探测器拍摄了月球和火星上的陨石坑。",
        "空间站的宇航员在太空中修理了天线。",
        "一颗拖着长尾巴的彗星从行星旁边安全飞过。",
    ],
    "football": [
        "The striker scored a goal in the last minute of the match.",
        "The goalkeeper stopped two penalties and saved the team.",
        "The referee showed a red card after a foul in midfield.",
        "Fans of the club filled the stadium before the cup final.",
        "The coach changed the defence at half time and won the match.",
        "The team lost the league by one goal in the last match.",
        "Нападающий забил гол на последней минуте матча.",
        "Вратарь отбил два пенальти и спас команду.",
        "Судья показал красную карточку после фола в центре поля.",
        "Болельщики клуба заполнили стадион перед финалом кубка.",
        "Тренер изменил защиту в перерыве и выиграл матч.",
        "Команда проиграла чемпионат из-за одного гола в последнем матче.",
        "前锋在比赛最后一分钟射门进球。",
        "守门员扑出了两个点球,拯救了球队。",
        "裁判在中场犯规后出示了红牌。",
        "俱乐部的球迷在杯赛决赛前坐满了球场。",
        "教练在中场休息时调整防守,赢得了比赛。",
        "球队在最后一场比赛中因一个进球丢掉联赛冠军。",
    ],
}

UNSEEN = [
    ("cooking", "Butter for the soup", "Boil the onions with salt and bake the dough with butter in the oven."),
    ("space", "A star", "A satellite in the orbit of Mars looked at a star and at the light of a planet."),
    ("football", "The cup", "The goalkeeper of the club saved the match; the striker scored no goal in the stadium."),
    ("cooking", "Суп", "Обжарьте лук в масле, добавьте в суп соль и перец, подавайте хлеб со сметаной."),
    ("space", "Орбита", "Спутник на орбите Марса, ракета и телескоп: астрономы измеряли свет планеты и звезды."),
    ("football", "Матч", "Вратарь спас команду, нападающий забил гол, а судья показал карточку перед финалом."),
    ("cooking", "面包和汤", "把黄油和盐加入汤里,面团放进烤箱,洋葱炒至金黄色。"),
    ("space", "行星", "卫星在火星轨道上,望远镜发现了恒星和行星,天文学家测量了光。"),
    ("football", "比赛", "守门员拯救了球队,前锋射门进球,球迷坐满球场,裁判出示红牌。"),
]


def examples(**more: str) -> list[Example]:
    """A page for every two neighbouring sentences of a language."""
    found = []
    for category, sentences in SENTENCES.items():
        for start in range(0, len(sentences), 6):
            part = sentences[start : start + 6]
            found += [
                Example(
                    category, part[at].split(",")[0], f"{part[at]} {part[(at + 1) % 6]} {part[(at + 3) % 6]}", **more
                )
                for at in range(6)
            ]
    return found
