/// The refused symbols of one request, in order.
///
/// One request may name thousands of symbols, and each refusal is an error of its own for the client. The first ones
/// are reported at once. The others wait here as names until the client has read some of the errors, so that its
/// requests cannot make more answers wait than ``RequestQueue`` allows.
struct SymbolRefusals {
    enum Reason {
        /// The name cannot be a symbol.
        case invalid
        case tooMany
        /// The upstream refuses the symbol.
        case upstream
    }

    struct Refusal {
        var symbol: String
        var reason: Reason
    }

    /// The number of refusals that are reported at once; together they take less than 8 KiB.
    private static let reportedAtOnce = 16

    private var waiting: ArraySlice<Refusal> = []
    private var left = Self.reportedAtOnce

    init() {}

    /// Notes that another request is taken. Those of the one before have been reported.
    mutating func requestBegan() { self.left = Self.reportedAtOnce }

    /// Adds a refusal; returns it if it is to be reported at once.
    mutating func add(_ symbol: String, _ reason: Reason) -> Refusal? {
        let refusal = Refusal(symbol: symbol, reason: reason)
        guard self.left == 0 else {
            self.left -= 1
            return refusal
        }
        self.waiting.append(refusal)
        return nil
    }

    mutating func popFirst() -> Refusal? { self.waiting.popFirst() }
}
