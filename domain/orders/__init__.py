"""Orders: the events that tell of them (`events`) and the rules by which an order obeys them (`rules`)."""
