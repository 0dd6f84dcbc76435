/// Why a request to Finnhub's REST service came to nothing, in one line that names the cure; never holds a key.
package struct ServiceFailure: Error, Sendable, Equatable, CustomStringConvertible {
    package enum Kind: Sendable, Equatable {
        case noKey
        case keyRejected
        /// The key's plan does not have it.
        case notPermitted
        /// Too many calls; asked again before `until` (wall clock, ns since 1970) it would refuse again.
        case limited(until: Int64)
        case down
        /// The answer cannot be what was asked for.
        case unexpected
        /// There was no way to the service, or the answer did not come to its end.
        case network
        /// What was asked for does not exist.
        case unknown
    }

    package var kind: Kind
    package var description: String

    package init(_ kind: Kind, _ description: String) {
        self.kind = kind
        self.description = description
    }

    package static let noKey = ServiceFailure(
        .noKey,
        "no key is set: put Finnhub's API key into FINNHUB_TOKEN or a file (--token-file); finnhub.io/register gives one"
    )
}
