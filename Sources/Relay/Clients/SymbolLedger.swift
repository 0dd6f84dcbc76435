import Market
import NIOCore

/// The symbols that the upstream has been asked for or sends already, all readers together.
///
/// It keeps hostile or mistaken wishes away from the upstream: names that cannot be symbols (``SymbolName``), and more symbols than one
/// connection may have. Only the first wish for a symbol and the end of the last one concern the upstream, and that end only
/// after a grace (``SymbolGrace``); where all places are taken, a new wish gets that of the symbol in grace longest.
///
/// What it holds is bounded by the places, whatever names readers make up: a name is held while somebody wants it, and for its
/// grace. That a symbol trades says nothing here: it may be a late trade of one that was given up, and a place that such a
/// symbol took would be lost for good.
struct SymbolLedger {
    enum Answer: Equatable {
        /// The feed has it, or has been asked for it.
        case known
        /// It is to be asked for now, behind ``takeReleases()``.
        case demand
        /// All places are taken.
        case full
        /// No such symbol can exist.
        case invalid
    }

    private let limit: Int
    /// The feed's own symbols, which are there without any reader: those of the settings and of the screen.
    private var own: Set<String>
    /// How many readers want each; 0 in grace, where none of the own ever is.
    private var readers: [String: Int] = [:]
    private var grace: SymbolGrace
    /// What the upstream need not send any more and has not been told yet.
    private var releases: [String] = []

    /// Those of them that the upstream does not send now; they take none of its places.
    private var refusedSymbols: Set<String> = []

    /// How many refused symbols may be asked for beside the others, for each place.
    private static let refusedPerPlace = 4

    init(limit: Int, own: some Sequence<String> = [], grace: TimeAmount = .zero) {
        self.limit = limit
        self.own = Set(own)
        self.grace = SymbolGrace(time: grace)
    }

    /// The symbols that the feed is asked for, in order of their names.
    var symbols: [String] { (self.own.union(self.readers.keys)).sorted() }

    /// When ``timePassed(now:)`` wants to be called.
    var deadline: NIODeadline? { self.grace.deadline }

    /// Whether the feed has the symbol or anybody wants it.
    func holds(_ symbol: String) -> Bool { self.own.contains(symbol) || self.readers[symbol] != nil }

    /// Notes that the upstream does not send the symbol: its place is free, though it is still wished for.
    mutating func refused(_ symbol: String) {
        if self.grace.remove(symbol) { return self.release(symbol) }  // there is nothing to come back for
        if self.own.contains(symbol) || self.readers[symbol] != nil { self.refusedSymbols.insert(symbol) }
    }

    /// Notes that the upstream refuses the symbol no longer.
    mutating func recovered(_ symbol: String) { self.refusedSymbols.remove(symbol) }

    /// Answers a reader's wish, and takes a place for it if that needs one.
    mutating func wanted(_ symbol: String) -> Answer {
        guard SymbolName.isValid(symbol) else { return .invalid }
        if let count = self.readers[symbol] {
            if count == 0 { _ = self.grace.remove(symbol) }
            self.readers[symbol] = count + 1
            return .known
        }
        // Counted although it is there anyway: it may be the feed's own no more some day.
        let isOwn = self.own.contains(symbol)
        guard isOwn || self.makePlace() else { return .full }
        self.readers[symbol] = 1
        return isOwn ? .known : .demand
    }

    /// Answers the wish to have a symbol among the feed's own, and takes a place for it if that needs one.
    mutating func adopted(_ symbol: String) -> Answer {
        guard SymbolName.isValid(symbol) else { return .invalid }
        if self.own.contains(symbol) { return .known }
        if let count = self.readers[symbol] {
            if count == 0 {
                _ = self.grace.remove(symbol)
                self.readers[symbol] = nil
            }
            self.own.insert(symbol)
            return .known
        }
        guard self.makePlace() else { return .full }
        self.own.insert(symbol)
        return .demand
    }

    /// Notes that a symbol is the feed's own no more: it stays for as long as a reader wants it.
    mutating func disowned(_ symbol: String) {
        guard self.own.remove(symbol) != nil, self.readers[symbol] == nil else { return }
        self.release(symbol)
    }

    /// Sees to it that there is a place for one more symbol; those in grace make room. Answers whether there is.
    private mutating func makePlace() -> Bool {
        // None in grace is refused, so each that goes makes a place.
        guard self.hasPlace(without: self.grace.count) else { return false }
        while !self.hasPlace(without: 0), let oldest = self.grace.placeNeeded() { self.release(oldest) }
        return true
    }

    /// Takes back one reader's wish that was answered `known` or `demand`.
    mutating func unwanted(_ symbol: String, now: NIODeadline) {
        guard let count = self.readers[symbol], count > 0 else { return }
        guard count == 1 else {
            self.readers[symbol] = count - 1
            return
        }
        guard !self.own.contains(symbol) else {
            self.readers[symbol] = nil
            return
        }
        self.readers[symbol] = 0
        if self.refusedSymbols.contains(symbol) || !self.grace.gaveUp(symbol, now: now) { self.release(symbol) }
    }

    /// Time has passed: whose grace is over is released.
    mutating func timePassed(now: NIODeadline) {
        for symbol in self.grace.timePassed(now: now) { self.release(symbol) }
    }

    /// Answers with what the upstream is to be told it need not send any more, each once.
    mutating func takeReleases() -> [String] {
        defer { self.releases = [] }
        return self.releases
    }

    /// Whether there is a place for one more symbol, were there `gone` symbols less.
    private func hasPlace(without gone: Int) -> Bool {
        let others = self.readers.keys.count { !self.own.contains($0) }
        let all = self.own.count + others - gone
        return all - self.refusedSymbols.count < self.limit && all < self.limit * (1 + Self.refusedPerPlace)
    }

    private mutating func release(_ symbol: String) {
        self.readers[symbol] = nil
        self.refusedSymbols.remove(symbol)
        self.releases.append(symbol)
    }
}
