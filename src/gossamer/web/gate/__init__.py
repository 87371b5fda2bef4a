"""What every connection and request passes first: limits, addresses, rates."""
