package image

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
)

// Imported reads an engine's progress; the last status of a finished import is the image's ID.
func Imported(r io.Reader) (id string, err error) {
	for d := json.NewDecoder(r); ; {
		var line struct{ Status, Error string }
		switch err := d.Decode(&line); {
		case errors.Is(err, io.EOF):
			if !strings.HasPrefix(id, "sha256:") {
				return "", fmt.Errorf("the engine named no image: %q", id)
			}
			return id, nil
		case err != nil:
			return "", err
		case line.Error != "":
			return "", errors.New(line.Error)
		case line.Status != "":
			id = line.Status
		}
	}
}
