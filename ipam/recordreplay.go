package ipam

// Replayer is a NodeAllocator that takes many Records faster at once than one by one.
type Replayer interface {
	// Replay is Apply of each record in order, up to the first that is refused: applied is how many came before it. The slice
	// stays the caller's.
	Replay(records []Record) (applied int, err error)
}

// Replay is Apply of each record in order, up to the first that is refused: applied is how many came before it. Whoever wants
// to go on without it goes on behind it.
func Replay(a NodeAllocator, records []Record) (applied int, err error) {
	if r, ok := a.(Replayer); ok {
		return r.Replay(records)
	}
	for i := range records {
		if err := a.Apply(records[i]); err != nil {
			return i, err
		}
	}
	return len(records), nil
}
