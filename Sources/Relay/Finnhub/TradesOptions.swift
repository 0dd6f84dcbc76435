/// The options of a client of Finnhub's protocol, in the query of its URL.
///
/// Finnhub ignores unknown parts of the query, and so does the relay: `token` may be anything, and neither an unknown
/// name nor an unknown value causes a refusal. Without options the relay behaves as Finnhub does.
package struct TradesOptions: Equatable {
    /// The action for a client that does not keep up.
    enum Overflow: Equatable {
        /// The client is closed with the count of missed trades.
        case close
        /// The client goes on with the next trades and the count of missed ones.
        case latest
    }

    var overflow = Overflow.close
    /// Whether a subscription to a symbol is answered with its newest trade.
    var snapshot = false
    /// Whether each frame comes with its position, so that the client can resume after a break.
    var resume = false
    /// Whether filled trades are sent, which are older than the symbol's newest. Finnhub's protocol cannot mark them.
    var filled = false

    init() {}

    /// Parses the target of a request, such as `/?token=any&snapshot=1`. If an option is given twice, the last one
    /// counts.
    package init(target: String) {
        guard let mark = target.firstIndex(of: "?") else { return }
        for pair in target[target.index(after: mark)...].split(separator: "&") {
            switch pair {
            case "snapshot=1", "snapshot=true": self.snapshot = true
            case "snapshot=0", "snapshot=false": self.snapshot = false
            case "resume=1", "resume=true": self.resume = true
            case "resume=0", "resume=false": self.resume = false
            case "filled=1", "filled=true": self.filled = true
            case "filled=0", "filled=false": self.filled = false
            case "overflow=close": self.overflow = .close
            case "overflow=latest": self.overflow = .latest
            default: break
            }
        }
    }
}
