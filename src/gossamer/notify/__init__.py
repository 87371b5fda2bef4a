"""Telling people and programs: mail, webhooks, feeds. What is told is decided elsewhere."""
