"""Signs of life of a worker: to the database, and to the process that started it."""
