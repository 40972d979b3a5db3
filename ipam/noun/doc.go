// Package noun puts names of things into sentences: one pod, two pods, an address. It knows English nouns and no number's form, which each
// text chooses for itself. Start at Of.
package noun
