// Package filelock keeps a second process from a file that one process writes.
//
// It decides only what a lock is on each operating system. A lock belongs to the open file: it ends when that is closed,
// or with its process, however that ends. Start at Try.
package filelock

import "errors"

// ErrHeld says that another process, or another open file of this one, has the lock.
var ErrHeld = errors.New("locked by another process")
