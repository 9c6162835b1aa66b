"""Who must see this row? Shards by key, focal objects to the others too, packed into one batch a shard."""
