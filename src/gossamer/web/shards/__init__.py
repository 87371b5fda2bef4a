"""Front ends and shard servers: the protocol between them."""
