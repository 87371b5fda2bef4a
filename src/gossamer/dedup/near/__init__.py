"""Near duplicates: seven methods with one contract, and which of them is used while crawling."""
