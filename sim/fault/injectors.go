package fault

// injectors are all injectors that Parse reads, in the order of the help text: the word, what follows it, and how that
// is read. Each injector is in its file: what it does, how it prints, and this row's parse.
var injectors = []row{
	{"Request", "NAME INJECTOR", parseRequest},  // match.go
	{"Kind", "KIND INJECTOR", parseKind},        // kind.go
	{"Node", "NAME INJECTOR", parseNode},        // match.go
	{"Key", "KEY INJECTOR", parseKey},           // match.go
	{"Nth", "N INJECTOR", parseNth},             // count.go
	{"First", "N INJECTOR", parseFirst},         // count.go
	{"After", "N INJECTOR", parseAfter},         // count.go
	{"Prob", "P INJECTOR", parseProb},           // prob.go
	{"During", "FROM TO INJECTOR", parseDuring}, // during.go
	{"Any", "INJECTOR...", parseAny},            // any.go
	{"Refuse", "CODE", parseRefuse},             // verdict.go
	{"Delay", "TIME", parseDelay},               // verdict.go
	{"Jitter", "MIN MAX", parseJitter},          // jitter.go
	{"Pass", "", verdict(Pass)},                 // verdict.go
	{"Vanish", "", verdict(Vanish)},             // verdict.go
	{"Mute", "", verdict(Mute)},                 // verdict.go
	{"Duplicate", "", verdict(Duplicate)},       // verdict.go
	{"CrashBefore", "", verdict(CrashBefore)},   // verdict.go
	{"CrashAfter", "", verdict(CrashAfter)},     // verdict.go
	{"Compact", "", verdict(Compact)},           // verdict.go
	{"PowerLoss", "", verdict(PowerLoss)},       // verdict.go
	{"Census", "", parseCensus},                 // census.go
}

// row is one injector of the language.
type row struct {
	// word begins it; an injector without rest is its word alone.
	word string
	// rest says what follows the word inside parentheses.
	rest string
	// parse reads what follows the word.
	parse func(*parser) (Injector, error)
}
