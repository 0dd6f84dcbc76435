/// What a client of Finnhub's protocol may choose in the query of the URL.
///
/// Finnhub ignores what it does not know there, and so does the relay: `token` is anything, and neither an unknown name nor
/// an unknown value keeps a client out. Without any choice the relay is Finnhub.
package struct TradesOptions: Equatable {
    /// What is done where the client does not keep up.
    enum Overflow: Equatable {
        /// It is closed with the count of what it missed.
        case close
        /// It goes on with the newest and a count.
        case latest
    }

    var overflow = Overflow.close
    /// Whether the newest trade of a symbol comes at once when it is subscribed.
    var snapshot = false

    init() {}

    /// Reads the target of a request, such as `/?token=any&snapshot=1`; of an option given twice the last one counts.
    package init(target: String) {
        guard let mark = target.firstIndex(of: "?") else { return }
        for pair in target[target.index(after: mark)...].split(separator: "&") {
            switch pair {
            case "snapshot=1", "snapshot=true": self.snapshot = true
            case "snapshot=0", "snapshot=false": self.snapshot = false
            case "overflow=close": self.overflow = .close
            case "overflow=latest": self.overflow = .latest
            default: break
            }
        }
    }
}
