"""Fields of the operator's own, taken out of pages: prices, departments, dates of events."""
