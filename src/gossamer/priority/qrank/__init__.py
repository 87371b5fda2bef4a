"""QRank: how important a page is, told from its URL alone (S4.2), and with the links that lead to it (S4.3)."""
