import Market
import Wire

/// The search for the trades that follow a known one.
extension TradeRing {
    /// The trades that follow the one a reader names.
    struct Path: Equatable {
        /// The reason why not all following trades are there.
        enum Shortage: Equatable {
            /// Some of the following trades are no longer kept.
            case tooOld
            /// This relay has no such epoch, or has not assigned that number.
            case unknown

            /// One line for people.
            var reason: String {
                switch self {
                case .tooOld: "the trades that followed are not kept any more"
                case .unknown: "this relay has not given out this number"
                }
            }
        }

        /// The shortage at the beginning; `nil` if nothing is missing there.
        var shortage: Shortage?
        /// The first available trade, or the position of the next one to come.
        var start: TapePosition
        /// Whether all trades from the known one to the newest are there. Across two runs they never are.
        var isComplete: Bool
    }

    /// Returns the trades that follow a known one; `nil` before the first epoch.
    func path(since known: TapePosition) -> Path? {
        guard let epoch = self.epoch else { return nil }
        let here = TapePosition(epoch: epoch, sequence: self.sequences.lowerBound)
        let end = TapePosition(epoch: epoch, sequence: self.sequences.upperBound)
        if known.epoch == epoch {
            // Assigned are 0, which stands for the time before any trade, and the numbers up to the newest.
            guard known.sequence < self.sequences.upperBound else {
                return Path(shortage: .unknown, start: end, isComplete: false)
            }
            if known.sequence + 1 >= self.sequences.lowerBound {
                let next = TapePosition(epoch: epoch, sequence: known.sequence + 1)
                return Path(shortage: nil, start: next, isComplete: true)
            }
            // An edge that was restarted goes on in the epoch of the run before, behind a gap.
            guard self.earlier.contains(where: { $0.contains(known) }) else {
                return Path(shortage: .tooOld, start: here, isComplete: false)
            }
        }
        if let index = self.earlier.firstIndex(where: { $0.contains(known) })
            ?? self.earlier.firstIndex(where: { $0.ring.epoch == known.epoch })
        {
            let run = self.earlier[index].ring.sequences
            guard known.sequence < run.upperBound else {
                return Path(shortage: .unknown, start: self.start(ofRun: index + 1), isComplete: false)
            }
            guard known.sequence + 1 >= run.lowerBound else {
                return Path(shortage: .tooOld, start: self.start(ofRun: index), isComplete: false)
            }
            let next = TapePosition(epoch: known.epoch, sequence: known.sequence + 1)
            return Path(shortage: nil, start: next, isComplete: false)
        }
        // An epoch is the time of a run's beginning, so all runs kept here are later than an unknown older one.
        guard known.epoch < epoch else { return Path(shortage: .unknown, start: end, isComplete: false) }
        let later = self.earlier.firstIndex { ($0.ring.epoch ?? 0) > known.epoch } ?? self.earlier.count
        return Path(shortage: .unknown, start: self.start(ofRun: later), isComplete: false)
    }

    /// Returns the first trade of an earlier run, or of this run if the index is past those.
    private func start(ofRun index: Int) -> TapePosition {
        guard index < self.earlier.count else {
            return TapePosition(epoch: self.epoch ?? 0, sequence: self.sequences.lowerBound)
        }
        let ring = self.earlier[index].ring
        return TapePosition(epoch: ring.epoch ?? 0, sequence: ring.sequences.lowerBound)
    }

    /// Returns the run of a position and its index among the earlier runs; the index is `nil` for this run.
    func run(at place: TapePosition) -> (ring: TradeRing, earlier: Int?) {
        if place.epoch == self.epoch, place.sequence >= self.sequences.lowerBound { return (self, nil) }
        let index =
            self.earlier.firstIndex { $0.contains(place) || $0.end == place }
            ?? self.earlier.firstIndex { $0.ring.epoch == place.epoch }
        return index.map { (self.earlier[$0].ring, $0) } ?? (self, nil)
    }

    /// Returns the gap between an earlier run and the next one, and the position where that begins.
    func behind(earlier index: Int) -> (gap: Gap, next: TapePosition) {
        (self.earlier[index].gap, self.start(ofRun: index + 1))
    }

    /// Returns how many trades of a symbol there are from a position on.
    func count(of symbol: String, from place: TapePosition) -> UInt64 {
        let (run, index) = self.run(at: place)
        var count = run.count(of: symbol, from: place.sequence)
        guard let index else { return count }
        for later in (index + 1)..<self.earlier.count { count += self.earlier[later].ring.count(of: symbol, from: 0) }
        return count + self.count(of: symbol, from: 0)
    }
}

extension TradeRing.EarlierRun {
    /// Whether the run has all trades behind one that a reader knows.
    fileprivate func contains(_ known: TapePosition) -> Bool {
        known.epoch == self.ring.epoch && known.sequence < self.ring.sequences.upperBound
            && known.sequence + 1 >= self.ring.sequences.lowerBound
    }

    /// The position behind its newest trade.
    fileprivate var end: TapePosition? {
        self.ring.epoch.map { TapePosition(epoch: $0, sequence: self.ring.sequences.upperBound) }
    }
}
