// Package oneline keeps what is told to people in one line, whatever an input or a joined error held.
//
// It decides where lines are joined and with what, and nothing about what a message says. Start at Text, or at Error
// for an error that callers still branch on.
package oneline

import "strings"

// Text is text with spaces in place of its line breaks.
func Text(text string) string {
	return strings.NewReplacer("\r\n", " ", "\n", " ", "\r", " ").Replace(text)
}

// Error is err with semicolons between the lines of its message, as of errors that were joined; nil of nil. It unwraps
// to err.
func Error(err error) error {
	if err == nil {
		return nil
	}
	return joined{err}
}

type joined struct{ error }

func (e joined) Error() string { return Text(strings.ReplaceAll(e.error.Error(), "\n", "; ")) }
func (e joined) Unwrap() error { return e.error }
