/// A part of the program whose log has a level. This is the only list of them.
package enum LogPart: String, CaseIterable, Sendable {
    /// Everything that belongs to no other part, such as settings, start and stop.
    case program
    case feed
    case relay
    case tls
    case recorder
    case history
    case alerts
    case audit
    case serve

    /// The parts whose level may be set. What the program says of itself is not left out.
    package static let adjustable = Self.allCases.filter { $0 != .program }

    /// What the part is, for people.
    var meaning: String {
        switch self {
        case .program: "the program itself"
        case .feed: "the connections to the services, gaps and states"
        case .relay: "the relay and its clients"
        case .tls: "TLS with the relay's clients"
        case .recorder: "the recording"
        case .history: "the history"
        case .alerts: "price alerts and their programs"
        case .audit: "the comparison of Finnhub's trades with the exchanges'"
        case .serve: "the stand-in of serve, replay and simulate"
        }
    }
}
