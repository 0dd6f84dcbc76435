/// The content of an ERROR: its URI for programs, and what else it says.
struct WAMPFailure: Error, Equatable {
    var uri: String
    var payload = WAMPPayload()

    init(uri: String, payload: WAMPPayload) {
        self.uri = uri
        self.payload = payload
    }

    /// - Parameter text: one line for people.
    init(_ uri: WAMPErrorURI, _ text: String) {
        self.uri = uri.rawValue
        self.payload.arguments = [.text(text)]
    }
}

/// The URIs of this program's errors, and of the reasons for which it ends a session (WAMP, 2.6).
enum WAMPErrorURI: String {
    case busy = "tickertape.error.busy"
    case noSuchSymbol = "tickertape.error.no_such_symbol"
    case noSuchTopic = "tickertape.error.no_such_topic"
    case rateLimited = "tickertape.error.rate_limited"
    case tooManyCalls = "tickertape.error.too_many_calls"
    case tooManyRegistrations = "tickertape.error.too_many_registrations"
    case tooManySubscriptions = "tickertape.error.too_many_subscriptions"
    case tooManySymbols = "tickertape.error.too_many_symbols"
    case canceled = "wamp.error.canceled"
    case goodbyeAndOut = "wamp.close.goodbye_and_out"
    case invalidArgument = "wamp.error.invalid_argument"
    case invalidURI = "wamp.error.invalid_uri"
    case noMatchingAuthMethod = "wamp.error.no_matching_auth_method"
    case noSuchProcedure = "wamp.error.no_such_procedure"
    case noSuchRealm = "wamp.error.no_such_realm"
    case noSuchRegistration = "wamp.error.no_such_registration"
    case noSuchSession = "wamp.error.no_such_session"
    case noSuchSubscription = "wamp.error.no_such_subscription"
    case notAuthorized = "wamp.error.not_authorized"
    case optionNotAllowed = "wamp.error.option_not_allowed"
    case procedureAlreadyExists = "wamp.error.procedure_already_exists"
    case protocolViolation = "wamp.error.protocol_violation"
    case systemShutdown = "wamp.close.system_shutdown"
    case timeout = "wamp.error.timeout"
}
