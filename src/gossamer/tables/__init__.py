"""What operators and the server keep in the database beside the queue: accounts, audit, samples, messages."""
