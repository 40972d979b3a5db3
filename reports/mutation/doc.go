// Package mutation plants faults into the product, one at a time, and sees which of them laws catch.
//
// It decides which faults there are (a table of kinds), where the product's source has a place for each of them, which
// are tried, and whether a run of the catalogue or of random scenarios told of one. It never plants into laws, the
// simulator, models or commands, and never changes a file of the tree: rewritten files are laid over it while the
// program is built. Start at Campaign.
//
// All faults are in one program behind switches, of which a run turns on at most one; with none it does what the tree's
// program does, and a campaign holds the digests of both against each other first. A switch notes that it was asked, so
// that a fault whose place no run reaches is not counted as one that laws do not see. Random runs are surveyed without
// a fault first: a fault is tried with those alone that ask its switch, as the others are the same with it, and one
// with which no run does anything else is told apart from one that changes runs and breaks no law: the goal, nine of
// ten caught, is about the faults that change some run. Runs of the catalogue that a fault changes are varied, and so
// is a random one where few are changed, half of the time: the next step from there is more likely to be seen. Which
// faults are tried follows from the sources and a seed alone; how far a search gets within its processor time follows
// from the machine.
//
// Beside the kinds there is a list, faults.yaml: faults that laws must see, each named, of which all are planted and
// none may escape.
//
// To add a kind of fault, write its file with a find function, list it in kinds, and give it a story in testdata.
package mutation
