/// The opening of a session: what a HELLO must say, and what the WELCOME answers (WAMP, 4.1).
struct WAMPWelcome: Equatable {
    /// The only realm.
    static let realm = "tickertape"
    /// The name, the role and the method of all sessions: who may connect is decided before, by the relay's token.
    static let anonymous = "anonymous"
    private static let clientRoles = ["publisher", "subscriber", "caller", "callee"]

    /// Whether the client understands INTERRUPT.
    var canBeInterrupted = false

    /// The refusal of a HELLO.
    struct Refusal: Error, Equatable {
        var reason: WAMPErrorURI
        var words: String
    }

    init(realm: String, _ details: WAMPDictionary) throws(Refusal) {
        guard realm == Self.realm else {
            throw Refusal(reason: .noSuchRealm, words: "the only realm here is \(Self.realm)")
        }
        var isAnonymous = true
        do throws(WAMPViolation) {
            self.canBeInterrupted = try Self.canBeInterrupted(details)
            if let methods = try details.texts("authmethods"), !methods.isEmpty {
                isAnonymous = methods.contains(Self.anonymous)
            }
        } catch {
            throw Refusal(reason: .protocolViolation, words: error.words)
        }
        guard isAnonymous else {
            throw Refusal(reason: .noMatchingAuthMethod, words: "the only method here is \(Self.anonymous)")
        }
    }

    /// Checks the roles, of which a client has at least one.
    private static func canBeInterrupted(_ details: WAMPDictionary) throws(WAMPViolation) -> Bool {
        let roles = try details.dictionary("roles") ?? [:]
        var isKnown = false
        for role in Self.clientRoles where try roles.dictionary(role) != nil { isKnown = true }
        guard isKnown else { throw WAMPViolation("roles names none of \(Self.clientRoles.joined(separator: ", "))") }
        let features = try roles.dictionary("callee")?.dictionary("features")
        return try features?.bool("call_canceling") ?? false
    }

    /// Returns the details of a WELCOME.
    static func details(version: String) -> WAMPDictionary {
        [
            "realm": .text(Self.realm),
            "authid": .text(Self.anonymous),
            "authrole": .text(Self.anonymous),
            "authmethod": .text(Self.anonymous),
            "authprovider": .text("static"),
            "agent": .text(version.isEmpty ? "tickertape" : "tickertape/\(version)"),
            "roles": .dictionary([
                "broker": Self.features(
                    "publisher_exclusion",
                    "subscriber_blackwhite_listing",
                    "pattern_based_subscription"
                ),
                "dealer": Self.features("progressive_call_results", "call_canceling", "call_timeout"),
            ]),
        ]
    }

    private static func features(_ names: String...) -> WAMPValue {
        .dictionary([
            "features": .dictionary(WAMPDictionary(names.map { WAMPDictionary.Entry(key: $0, value: .bool(true)) }))
        ])
    }
}
