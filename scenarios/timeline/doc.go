// Package timeline interprets the actions of a scenario's timeline for every world.
//
// It decides what an action means: which nodes and pods it is for, what new ones are called, in which order things happen, when
// a fault ends, and what healing still has to do. It never touches a machine: a world does single things (cut this link, kill that
// program) through World. Start at Player. A Player belongs to the goroutine that drives the run; it reads no clock, and what
// happens later it asks World.After for. Choices are drawn from the run's Chooser under labels of their own, so they come out
// alike in all worlds. What a world cannot do it lacks as a Need; such an action is refused by name, with that Need's reason.
//
// To add an action, write its function beside those of its kind and add it to actions; to add a world, implement World.
package timeline
