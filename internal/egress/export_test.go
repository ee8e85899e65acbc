package egress

// The reasons of an Error, for the tests beside the package: others show the words and compare none.
const (
	WhyLength      = whyLength
	WhyMalformed   = whyMalformed
	WhyScheme      = whyScheme
	WhyUser        = whyUser
	WhyHost        = whyHost
	WhyHeader      = whyHeader
	WhyAddress     = whyAddress
	WhyName        = whyName
	WhyConnection  = whyConnection
	WhyProxy       = whyProxy
	WhyCertificate = whyCertificate
	WhyTLS         = whyTLS
	WhyAnswer      = whyAnswer
	WhySlow        = whySlow
	WhyCancelled   = whyCancelled
)
