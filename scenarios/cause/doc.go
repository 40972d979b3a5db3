// Package cause explains a failure: it walks back from the event that broke a law through what each event read and wrote, and tells at
// most a dozen linked events in words.
//
// It decides nothing and judges nothing: a law has. It does not look into programs: what it knows are a run's events with their lines, which
// event scheduled which, the facts that laws judge by, and the faults in the lines. A chain is a reading of these, not a proof.
//
// What was not done has no event. It is found by comparison: with what a node did for others in the same life, with what a law says that a node
// knows to be due, and with a run that passed. The first event, fact or decision that differs is where the failing run leaves the right way, and what
// its doer does next says what comes of it. Decisions are what programs decide and no event shows: what they write to journals, log, lack, wait for and
// want. The passing run is one that Precedents has kept in a file, or one that sim/explore makes on the spot (BesideRun, Without). A run that an
// older program made differs where that program was changed on purpose, too.
//
// Without any other run a chain tells which journal records an answer went out on (journal.go), who does one thing again and again (repeat.go), and where
// link addresses of the law's words were first seen.
//
// Start at Recorder, which a run is told to, and Chain. Events come in their order; only the last ones of a very long run are kept. The
// words of facts are in deed.go, those of event lines in line.go; what is chosen and why is in chain.go.
package cause
