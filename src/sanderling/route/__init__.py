"""Who must see this row? Shards by key, focal objects to all, packed into one parcel a shard."""
