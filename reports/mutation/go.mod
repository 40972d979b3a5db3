module github.com/vppdrill/vppdrill/reports/mutation

go 1.26.0

require (
	github.com/cockroachdb/datadriven v1.0.3
	github.com/vppdrill/vppdrill v0.0.0
	golang.org/x/tools v0.52.0
)

require (
	github.com/agnivade/levenshtein v1.2.2 // indirect
	github.com/goccy/go-yaml v1.19.2 // indirect
	github.com/lunixbochs/struc v0.0.0-20200521075829-a4cb8d33dbbe // indirect
	github.com/pmezard/go-difflib v1.0.1-0.20181226105442-5d4384ee4fb2 // indirect
	go.fd.io/govpp v0.13.0 // indirect
	golang.org/x/mod v0.42.0 // indirect
	golang.org/x/sync v0.24.0 // indirect
)

replace github.com/vppdrill/vppdrill => ../..
