import Market

/// The failure of a request to Finnhub's REST service, in words for a person. It never holds a key.
package struct ServiceFailure: Error, Sendable, Equatable, CustomStringConvertible {
    package enum Kind: Sendable, Equatable {
        case noKey
        /// The service does not accept the key.
        case keyRejected
        /// The key's plan does not include the request.
        case notPermitted
        /// Too many calls. No further one is made before `until` (wall clock, ns since 1970).
        case rateLimited(until: Int64)
        /// No complete answer came, or the service is down.
        case unreachable
        /// The answer cannot belong to the request.
        case unreadableAnswer
        /// The service does not list the exchange.
        case unknownExchange
    }

    package var kind: Kind
    /// What is wrong, in one line.
    package var reason: String
    /// What to do, in one line; `nil` if the reason says it.
    package var cure: String?
    /// The HTTP status of the answer; `nil` without one, and for an answer with status 200.
    package var status: UInt?

    package init(_ kind: Kind, _ reason: String, cure: String? = nil, status: UInt? = nil) {
        self.kind = kind
        self.reason = reason
        self.cure = cure
        self.status = status
    }

    /// The reason and the cure, in one line.
    package var description: String { self.cure.map { "\(self.reason): \($0)" } ?? self.reason }

    package static let noKey = ServiceFailure(
        .noKey,
        "no key is set",
        cure: "put Finnhub's API key into FINNHUB_TOKEN or a file (--token-file); finnhub.io/register gives one"
    )

    /// Too many calls. The words name the time, because they may be shown some time after the refusal.
    ///
    /// - Parameter until: the end of the wait, ns since 1970.
    package static func rateLimited(until: Int64, _ reason: String) -> ServiceFailure {
        // Rounded up, so that no reader asks a moment too early.
        let time = UTCText.timeOfDay(until + 999_999_999)
        return ServiceFailure(.rateLimited(until: until), reason, cure: "wait until \(time) UTC")
    }

    /// An exchange that the service does not list.
    ///
    /// - Parameter known: the exchanges that it lists; empty if they are unknown.
    package static func unknownExchange(_ name: String, known: [String]) -> ServiceFailure {
        let names = known.prefix(40).map { PrintableText.line($0, limit: 64) }
        return ServiceFailure(
            .unknownExchange,
            "the service lists no symbols for the exchange \(PrintableText.line(name, limit: 32))",
            cure: names.isEmpty ? "check its name" : "choose one of \(names.joined(separator: ", "))"
        )
    }
}
