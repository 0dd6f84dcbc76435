import Market

/// The text of an `-ERR`, with its class.
package struct ServerRefusal: Sendable, Equatable, Error {
    /// What a refusal means for the connection. The texts are those of nats-server, compared without regard to case.
    package enum Kind: Sendable, Equatable {
        /// The credentials are wrong, revoked or missing.
        case authorization
        /// The credentials were right and have expired.
        case expired
        /// The server did not get a PONG in time.
        case staleConnection
        /// The server had to hold back more for this client than it allows.
        case slowConsumer
        /// A message of ours was larger than `max_payload`.
        case maximumPayload
        /// The server or the account has as many connections as it may.
        case maximumConnections
        /// This user may not publish to that subject, which is not made printable.
        case publishing(String)
        /// This user may not subscribe to that pattern, which is not made printable.
        case subscribing(String)
        /// A subject of ours is invalid, or there are too many subscriptions. The connection goes on.
        case subject
        /// Anything else. A server that means it closes the connection.
        case other
    }

    package var kind: Kind
    /// The server's words: one line of printable characters.
    package var text: String

    package init(_ words: String) {
        self.text = PrintableText.line(words, limit: 200)
        let lower = self.text.lowercased()
        self.kind =
            switch lower {
            case "authorization violation", "user authentication revoked", "account authentication revoked":
                .authorization
            case "user authentication expired", "account authentication expired": .expired
            case "stale connection": .staleConnection
            case "slow consumer": .slowConsumer
            case "maximum payload violation": .maximumPayload
            case "maximum connections exceeded", "maximum account active connections exceeded": .maximumConnections
            case "invalid subject", "invalid publish subject", "maximum subscriptions exceeded": .subject
            default: Self.permission(in: words) ?? .other
            }
    }

    /// Reads `Permissions Violation for Publish to "subject"` and the like for a subscription.
    private static func permission(in text: String) -> Kind? {
        for (words, isPublishing) in [
            ("Permissions Violation for Publish to \"", true), ("Permissions Violation for Subscription to \"", false),
        ] where text.hasPrefix(words) {
            let subject = Self.unquoted(text.dropFirst(words.count))
            return isPublishing ? .publishing(subject) : .subscribing(subject)
        }
        return nil
    }

    /// Returns the text up to the closing quote; Go's `%q` has put `\` before quotes and before itself.
    private static func unquoted(_ text: Substring) -> String {
        var unquoted = String.UnicodeScalarView()
        var isEscaped = false
        for scalar in text.unicodeScalars {
            if !isEscaped, scalar == "\"" { break }
            isEscaped = !isEscaped && scalar == "\\"
            if !isEscaped { unquoted.append(scalar) }
        }
        return String(unquoted)
    }

    /// Whether the connection goes on after it.
    package var isHarmless: Bool {
        switch self.kind {
        case .publishing, .subscribing, .subject, .other: true
        case .authorization, .expired, .staleConnection, .slowConsumer, .maximumPayload, .maximumConnections: false
        }
    }
}

extension ServerRefusal: CustomStringConvertible {
    /// One line with the server's words and what to do.
    package var description: String {
        let hint =
            switch self.kind {
            case .authorization: "check user and password, token, NKey seed or credentials file"
            case .expired: "get a new credentials file"
            case .staleConnection: "this program or the network stood still for longer than the server's ping interval"
            case .slowConsumer: "this program or the network is too slow for what it subscribes to"
            case .maximumPayload: "the server's max_payload is too small for this message"
            case .maximumConnections: "raise max_connections of the server, or the account's limit"
            case .publishing, .subscribing: "give the user this permission in the server's configuration"
            case .subject: "the server does not accept the subject"
            case .other: "look into the server's log"
            }
        return "the NATS server refused: \(self.text); \(hint)"
    }
}
