"""The frontier database: SQLite or PostgreSQL, connections, turns to write, schema and upgrades."""
