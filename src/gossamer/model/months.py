"""The names of the months, for whoever reads dates: of pages, of feeds."""

from __future__ import annotations

# One line per language, the twelve months in order; `|` between spellings. Inflected forms are those of dates.
_MONTHS = """
january|jan february|feb|febr march|mar april|apr may june|jun july|jul august|aug september|sep|sept october|oct november|nov december|dec
januar|jän|jänner februar|feber märz|mär|mrz|maerz april mai juni juli august september oktober|okt november dezember|dez
janvier|janv février|fév|févr|fevrier mars avril|avr mai juin juillet|juil août|aout septembre octobre novembre décembre|déc|decembre
enero|ene febrero marzo abril|abr mayo junio julio agosto|ago septiembre|setiembre|set octubre noviembre diciembre|dic
gennaio|gen febbraio marzo aprile maggio|mag giugno|giu luglio|lug agosto settembre|sett ottobre|ott novembre dicembre
janeiro fevereiro|fev março|marco abril maio|mai junho julho agosto setembro outubro|out novembro dezembro
января|январь|янв февраля|февраль|фев|февр марта|март|мар апреля|апрель|апр мая|май июня|июнь|июн июля|июль|июл августа|август|авг сентября|сентябрь|сен|сент октября|октябрь|окт ноября|ноябрь|ноя|нояб декабря|декабрь|дек
січня|січ лютого|лют березня|бер квітня|квіт травня|трав червня|черв липня|лип серпня|серп вересня|вер жовтня|жовт листопада|лист грудня|груд
januari februari maart|mrt april mei juni juli augustus september oktober november december
januari februari mars april maj juni juli augusti september oktober november december
januar februar marts april maj juni juli august september oktober november december|des
stycznia|styczeń|sty lutego|luty|lut marca|marzec|mar kwietnia|kwiecień|kwi maja|maj czerwca|czerwiec|cze lipca|lipiec|lip sierpnia|sierpień|sie września|wrzesień|wrz października|październik|paź listopada|listopad|lis grudnia|grudzień|gru
ledna února března dubna května června července srpna září října listopadu prosince
ianuarie februarie martie aprilie mai iunie iulie august septembrie octombrie noiembrie decembrie
január február március|márc április|ápr május|máj június|jún július|júl augusztus szeptember|szept október november december
ocak|oca şubat|şub mart nisan|nis mayıs haziran|haz temmuz|tem ağustos|ağu eylül|eyl ekim|eki kasım|kas aralık|ara
tammikuuta helmikuuta maaliskuuta huhtikuuta toukokuuta kesäkuuta heinäkuuta elokuuta syyskuuta lokakuuta marraskuuta joulukuuta
ιανουαρίου φεβρουαρίου μαρτίου απριλίου μαΐου|μαίου ιουνίου ιουλίου αυγούστου σεπτεμβρίου οκτωβρίου νοεμβρίου δεκεμβρίου
януари февруари март април май юни юли август септември октомври ноември декември
januari februari maret april mei juni juli agustus|agu|agt september oktober november desember|des
يناير فبراير مارس أبريل|ابريل مايو يونيو يوليو أغسطس|اغسطس سبتمبر أكتوبر|اكتوبر نوفمبر ديسمبر
ינואר|בינואר פברואר|בפברואר מרץ|במרץ אפריל|באפריל מאי|במאי יוני|ביוני יולי|ביולי אוגוסט|באוגוסט ספטמבר|בספטמבר אוקטובר|באוקטובר נובמבר|בנובמבר דצמבר|בדצמבר
जनवरी फरवरी|फ़रवरी मार्च अप्रैल मई जून जुलाई अगस्त सितंबर|सितम्बर अक्टूबर|अक्तूबर नवंबर|नवम्बर दिसंबर|दिसम्बर
"""  # noqa: E501 - a language is a line
MONTHS: dict[str, int] = {
    word: month
    for line in _MONTHS.strip().split("\n")
    for month, words in enumerate(line.split(" "), start=1)
    for word in words.split("|")
}
"""Lower-case names and short forms → 1…12. No two languages disagree about one (tested)."""
