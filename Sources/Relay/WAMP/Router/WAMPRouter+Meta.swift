/// The meta procedures, by which clients look into the router (WAMP, 14.1.1, 14.2.7 and 14.3.6).
extension WAMPRouter {
    /// Returns the result of a meta procedure.
    ///
    /// A list has at most ``WAMPLimits/listed`` elements. A session, a subscription or a registration that does not
    /// exist fails, as the specification says; a lookup without success is null.
    ///
    /// - Parameter viewer: the session that sees only its own subscriptions; `nil` if the caller sees all.
    func meta(_ procedure: String, _ payload: WAMPPayload, of viewer: UInt64?) throws(WAMPFailure) -> WAMPPayload {
        switch procedure {
        case "wamp.session.count": Self.result(.integer(Int64(self.sessions.count)))
        case "wamp.session.list": Self.list(self.sessions.sorted())
        case "wamp.session.get": Self.result(try self.session(payload))
        case "wamp.subscription.list": Self.lists { self.shown(self.broker.all($0), to: viewer) }
        case "wamp.subscription.lookup": Self.result(Self.id(try self.lookup(payload, viewer)))
        case "wamp.subscription.match":
            Self.list(self.shown(self.broker.matching(try Self.uri(payload)), to: viewer), orNull: true)
        case "wamp.subscription.get": Self.result(Self.details(try self.subscription(payload, viewer)))
        case "wamp.subscription.list_subscribers": Self.list(try self.subscribers(payload, viewer))
        case "wamp.subscription.count_subscribers":
            Self.result(.integer(Int64(try self.subscribers(payload, viewer).count)))
        case "wamp.registration.list": Self.lists { $0 == .exact ? self.dealer.registrations.all : [] }
        case "wamp.registration.lookup", "wamp.registration.match":
            Self.result(Self.id(self.dealer.registrations[try Self.uri(payload)]?.id))
        case "wamp.registration.get": Self.result(Self.details(try self.registration(payload)))
        case "wamp.registration.list_callees": Self.list([try self.registration(payload).session])
        case "wamp.registration.count_callees": Self.callees(of: try self.registration(payload))
        case _: throw WAMPFailure(.noSuchProcedure, "there is no such procedure")
        }
    }

    // MARK: Arguments

    private static func uri(_ payload: WAMPPayload) throws(WAMPFailure) -> String {
        guard let uri = payload.arguments?.first?.text, uri.utf8.count <= WAMPURI.maximumBytes else {
            throw WAMPFailure(.invalidArgument, "the first argument is a URI")
        }
        return uri
    }

    private static func pattern(_ payload: WAMPPayload) throws(WAMPFailure) -> WAMPPattern {
        let options = payload.arguments.flatMap { $0.count > 1 ? $0[1].dictionary : nil }
        guard let match = WAMPMatch(rawValue: options?["match"]?.text ?? WAMPMatch.exact.rawValue) else {
            throw WAMPFailure(.invalidArgument, "match is exact, prefix or wildcard")
        }
        return WAMPPattern(text: try Self.uri(payload), match: match)
    }

    private static func number(_ payload: WAMPPayload) throws(WAMPFailure) -> UInt64 {
        guard let id = payload.arguments?.first?.id else {
            throw WAMPFailure(.invalidArgument, "the first argument is an id")
        }
        return id
    }

    private func session(_ payload: WAMPPayload) throws(WAMPFailure) -> WAMPValue {
        let id = try Self.number(payload)
        guard self.sessions.contains(id) else { throw WAMPFailure(.noSuchSession, "there is no such session") }
        let anonymous = WAMPValue.text(WAMPWelcome.anonymous)
        return .dictionary([
            "session": .number(id), "authid": anonymous, "authrole": anonymous, "authmethod": anonymous,
            "authprovider": .text("static"),
        ])
    }

    /// Returns whether a session sees a subscription.
    private func isShown(_ id: UInt64, to viewer: UInt64?) -> Bool {
        guard let viewer else { return true }
        return self.broker[id]?.members.contains(viewer) == true
    }

    private func shown(_ ids: [UInt64], to viewer: UInt64?) -> [UInt64] {
        ids.filter { self.isShown($0, to: viewer) }
    }

    private func lookup(_ payload: WAMPPayload, _ viewer: UInt64?) throws(WAMPFailure) -> UInt64? {
        guard let id = self.broker.id(of: try Self.pattern(payload)), self.isShown(id, to: viewer) else { return nil }
        return id
    }

    private func subscription(
        _ payload: WAMPPayload,
        _ viewer: UInt64?
    ) throws(WAMPFailure) -> WAMPBroker.Subscription {
        let id = try Self.number(payload)
        guard let subscription = self.broker[id], self.isShown(id, to: viewer) else {
            throw WAMPFailure(.noSuchSubscription, "there is no such subscription")
        }
        return subscription
    }

    private func subscribers(_ payload: WAMPPayload, _ viewer: UInt64?) throws(WAMPFailure) -> [UInt64] {
        let subscription = try self.subscription(payload, viewer)
        return viewer.map { [$0] } ?? subscription.members.sorted()
    }

    private func registration(_ payload: WAMPPayload) throws(WAMPFailure) -> WAMPRegistrations.Registration {
        guard let registration = self.dealer.registrations[try Self.number(payload)] else {
            throw WAMPFailure(.noSuchRegistration, "there is no such registration")
        }
        return registration
    }

    // MARK: Results

    private static func result(_ value: WAMPValue) -> WAMPPayload { WAMPPayload(arguments: [value]) }

    private static func id(_ id: UInt64?) -> WAMPValue { id.map { .number($0) } ?? .null }

    /// A procedure is registered by one session.
    private static func callees(of registration: WAMPRegistrations.Registration) -> WAMPPayload {
        Self.result(.integer(1))
    }

    private static func list(_ ids: [UInt64], orNull: Bool = false) -> WAMPPayload {
        Self.result(ids.isEmpty && orNull ? .null : Self.values(ids))
    }

    private static func values(_ ids: [UInt64]) -> WAMPValue {
        .list(ids.prefix(WAMPLimits.listed).map { .number($0) })
    }

    private static func lists(_ ids: (WAMPMatch) -> [UInt64]) -> WAMPPayload {
        let entries = WAMPMatch.allCases.map { match in
            WAMPDictionary.Entry(key: match.rawValue, value: Self.values(ids(match)))
        }
        return Self.result(.dictionary(WAMPDictionary(entries)))
    }

    private static func details(_ subscription: WAMPBroker.Subscription) -> WAMPValue {
        .dictionary([
            "id": .number(subscription.id),
            "match": .text(subscription.pattern.match.rawValue),
            "uri": .text(subscription.pattern.text),
        ])
    }

    private static func details(_ registration: WAMPRegistrations.Registration) -> WAMPValue {
        .dictionary([
            "id": .number(registration.id),
            "match": .text(WAMPMatch.exact.rawValue),
            "invoke": .text("single"),
            "uri": .text(registration.procedure),
        ])
    }
}
