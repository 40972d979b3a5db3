// Package cause explains a failure: it walks back from the event that broke a law through the objects that each event
// read and wrote, and describes at most a dozen linked events.
//
// It decides nothing and judges nothing: laws do. It does not look into programs. Its input are a run's event lines,
// which event scheduled which, the facts that laws judge by, and the faults in the lines. A chain is an interpretation
// of these, not a proof.
//
// A step that a program omitted has no event. It is found by comparison: with the node's steps for other subjects in
// the same process, with due work that a law's text names, and with a passing run. The failing run goes wrong at the
// first event, fact or decision that differs, and the actor's next difference shows the consequence. Decisions are
// internal choices that no event shows: what programs write to journals, log, lack, wait for and want. Precedents keeps
// the passing run in a file, or sim/explore makes one on the spot (BesideRun, Without). A passing run of an older
// program version also shows intended changes as differences.
//
// Without another run a chain shows which journal records an answer relies on (journal.go), which actor repeats one
// step (repeat.go), where a controller or an agent falls silent about what the law names (silence.go), and where MAC
// addresses in the law's text first appeared. Where work is not done and nothing of the run shows by whom, the chain says
// that the step is not known.
//
// Start at Recorder, which records a run, and Chain. Events come in order; only the last ones of a very long run are
// kept. deed.go describes facts, line.go event lines; chain.go decides which links are chosen and why.
package cause
