"""The score of the papers' search engine, compared with ours."""
