// Package taskstate has the states of an A2A task (TaskState, A2A 1.0 §4.1.3) in the words of every
// version, and which of them end anything.
//
//	1.0, ProtoJSON   0.3, 0.2          0.1              a task in it
//	SUBMITTED        submitted         submitted        works
//	WORKING          working           working          works
//	INPUT_REQUIRED   input-required    input-required   waits for the caller
//	AUTH_REQUIRED    auth-required                      waits for a credential
//	COMPLETED        completed         completed        stays so
//	FAILED           failed            failed           stays so
//	CANCELED         canceled          canceled         stays so
//	REJECTED         rejected                           stays so
//	UNSPECIFIED      unknown           unknown          is in no state that its agent knows
//
// A state is a string here, the 1.0 name with its prefix: "TASK_STATE_WORKING". "" is a state that
// no version has; extensions may not add any (the page Extensions of A2A 1.0, Limitations).
package taskstate
