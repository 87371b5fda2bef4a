"""What a search manager changes by hand: synonyms, best bets, hidden pages, boosts, stop words, collections."""
