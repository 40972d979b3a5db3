// Package cause explains a failure: it walks back from the event that broke a law through what each event read and wrote, and tells at
// most a dozen linked events in words.
//
// It decides nothing and judges nothing: a law has. It does not look into programs: what it knows are a run's events with their lines, which
// event scheduled which, the facts that laws judge by, and the faults in the lines. A chain is a reading of these, not a proof.
//
// What was not done has no event. It is found by comparison: habits are what passing runs always did (habits.txt, and known.txt for numbers,
// which TestHabits of sim/explore learns from the catalogue and random runs), what other pods, addresses and lives of the same run did, and what
// a law says that a node knows to be due. A habit that was not kept is an oddity beside the walk, and as little a proof.
//
// Of the catalogue's runs what was done is kept (passed.zip, which TestPrecedents writes). A failing run of the same scenario and seed is held
// against it: the first event, fact or decision that is otherwise is where it leaves the right way, and what its doer does otherwise next says what
// comes of it. Decisions are what programs decide and no event shows: what they write to journals, log, lack, wait for and want. A run that is not kept may
// be set beside another one (BesideRun, Without), which sim/explore looks for. A kept run of an older program differs where that was changed on purpose, too.
//
// Without any other run a chain tells which journal records an answer went out on (journal.go), who does one thing again and again (repeat.go), and where
// link addresses of the law's words were first seen.
//
// Start at Recorder, which a run is told to, and Chain. Events come in their order; only the last ones of a very long run are kept. The
// words of facts are in deed.go, those of event lines in line.go; what is chosen and why is in chain.go. Learner learns habits.
package cause
