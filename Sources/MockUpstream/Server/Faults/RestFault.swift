/// A fault of a venue's REST service for trades.
package enum RestFault: Sendable, Equatable {
    /// Answers with something other than trades.
    case status(Fault.Refusal)
    /// Knows no trade that was played within this time, ns.
    case lag(Int64)
    /// Does not know this many of a symbol's newest trades.
    case behind(Int)
    /// Ends the connection after half of the answer.
    case cut
    /// Answers without trades.
    case empty
    /// Answers that much later, ns.
    case slow(Int64)
    /// Has no trades by their ids, as Binance's host for market data.
    case narrow
}

extension RestFault: CustomStringConvertible {
    /// The fault's text form, for reports.
    package var description: String {
        switch self {
        case .status(let refusal): "rest-status=\(refusal.status)"
        case .lag(let time): "rest-lag=\(time / 1_000_000)ms"
        case .behind(let count): "rest-lag=\(count)"
        case .cut: "rest-cut"
        case .empty: "rest-empty"
        case .slow(let time): "rest-slow=\(time / 1_000_000)ms"
        case .narrow: "rest-narrow"
        }
    }
}
