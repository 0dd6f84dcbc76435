/// The failure of a request to Finnhub's REST service, in one line that names a remedy. It never holds a key.
package struct ServiceFailure: Error, Sendable, Equatable, CustomStringConvertible {
    package enum Kind: Sendable, Equatable {
        case noKey
        case keyRejected
        /// The key's plan does not include the request.
        case notPermitted
        /// Too many calls. The service refuses further ones before `until` (wall clock, ns since 1970).
        case limited(until: Int64)
        case down
        /// The answer cannot belong to the request.
        case unexpected
        /// The service could not be reached, or the answer was incomplete.
        case network
        /// The requested item does not exist.
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
