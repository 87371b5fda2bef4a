"""Tables of the database beside the queue, for operators and the server: accounts, audit, samples, messages."""
