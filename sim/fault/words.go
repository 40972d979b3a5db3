package fault

// Word is one word of the language of injectors, for the reference.
type Word struct {
	// Word begins the injector; Doc says what it does; Example is an injector that Parse reads.
	Word, Doc, Example string
}

// Words lists the language in the order of the help text.
func Words() []Word {
	docs := map[string][2]string{
		"Request":     {"Only requests of this name: a binary API message or an operation.", "(Request tap_create_v3 Mute)"},
		"Kind":        {"Only operations of this kind: dataplane, persist, effect, store, store-watch, api-watch, cni, control, control-watch, control-list.", "(Kind persist (Refuse 0))"},
		"Node":        {"Only operations of this node.", "(Node node-1 (Kind store Vanish))"},
		"Key":         {"Only operations on this object.", "(Key pod/default/web-0 Mute)"},
		"Nth":         {"Only the operation of this number, from 1 on.", "(Nth 1 (Request tap_create_v3 Mute))"},
		"First":       {"Only as many operations, the first ones.", "(First 3 (Kind store Vanish))"},
		"After":       {"Not as many operations, the first ones.", "(After 10 (Kind persist CrashAfter))"},
		"Prob":        {"With this probability each time.", "(Prob 0.01 (Kind dataplane Mute))"},
		"During":      {"Only between two times of the run.", "(During 10s 20s (Kind dataplane Vanish))"},
		"Any":         {"The first of several that has something to say.", "(Any (Nth 1 (Kind store Vanish)) (Nth 2 (Kind persist CrashAfter)))"},
		"Refuse":      {"The operation is refused with this code and does nothing.", "(Kind dataplane (Refuse -1))"},
		"Delay":       {"The answer comes this much later.", "(Kind store (Delay 2s))"},
		"Jitter":      {"The answer comes later by a time between two.", "(Kind store (Jitter 1ms 3s))"},
		"Pass":        {"Nothing happens to the operation.", "(Any (Request show_version Pass) (Kind dataplane Mute))"},
		"Vanish":      {"The operation is lost before it was done.", "(Nth 1 (Kind store Vanish))"},
		"Mute":        {"The operation is done and its answer lost.", "(Nth 1 (Kind dataplane Mute))"},
		"Duplicate":   {"The operation or delivery comes twice.", "(Kind store-watch Duplicate)"},
		"CrashBefore": {"The program dies before the operation.", "(Nth 1 (Kind effect CrashBefore))"},
		"CrashAfter":  {"The program dies after the operation, before it knows.", "(Nth 1 (Kind persist CrashAfter))"},
		"Compact":     {"The store forgets its history first.", "(Nth 5 (Kind store Compact))"},
		"PowerLoss":   {"The machine that writes to its disk loses power while it does: the write may be there or not.", "(Nth 2 (Kind persist PowerLoss))"},
		"Census":      {"Nothing happens; operations are counted.", "Census"},
	}
	var out []Word
	for _, r := range injectors {
		d := docs[r.word]
		out = append(out, Word{r.word, d[0], d[1]})
	}
	return out
}
