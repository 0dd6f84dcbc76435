import Market
import Wire

/// What there is behind a trade that a reader knows.
extension TradeRing {
    /// What a reader gets who comes back with the name of a trade.
    struct Path: Equatable {
        /// Why what follows that trade is not all there.
        enum Shortage: Equatable {
            /// Some that follow it are gone.
            case tooOld
            /// This relay knows nothing of that run of numbers, or has not given out that number.
            case unknown

            /// One line for people.
            var reason: String {
                switch self {
                case .tooOld: "the trades that followed are not kept any more"
                case .unknown: "this relay has given out no such number"
                }
            }
        }

        /// What stands in front of all; `nil` where nothing is missing at the beginning.
        var shortage: Shortage?
        /// The first trade that there is, or the place of the next to come.
        var start: TapePosition
        /// Whether all is there from the trade that the reader knows to the newest. Between two runs it never is.
        var isComplete: Bool
    }

    /// Finds what follows a trade; `nil` as long as no run of numbers has begun.
    func path(since known: TapePosition) -> Path? {
        guard let epoch = self.epoch else { return nil }
        let here = TapePosition(epoch: epoch, sequence: self.sequences.lowerBound)
        let end = TapePosition(epoch: epoch, sequence: self.sequences.upperBound)
        if known.epoch == epoch {
            // The number of the newest has been given out, and 0, before any.
            guard known.sequence < self.sequences.upperBound else {
                return Path(shortage: .unknown, start: end, isComplete: false)
            }
            guard known.sequence + 1 >= self.sequences.lowerBound else {
                return Path(shortage: .tooOld, start: here, isComplete: false)
            }
            let next = TapePosition(epoch: epoch, sequence: known.sequence + 1)
            return Path(shortage: nil, start: next, isComplete: true)
        }
        if let index = self.earlier.firstIndex(where: { $0.ring.epoch == known.epoch }) {
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
        // Runs are named by when they began: all that is here came after an older one.
        guard known.epoch < epoch else { return Path(shortage: .unknown, start: end, isComplete: false) }
        let later = self.earlier.firstIndex { ($0.ring.epoch ?? 0) > known.epoch } ?? self.earlier.count
        return Path(shortage: .unknown, start: self.start(ofRun: later), isComplete: false)
    }

    /// The first trade of an earlier run, or, behind the last of these, of this one.
    private func start(ofRun index: Int) -> TapePosition {
        guard index < self.earlier.count else {
            return TapePosition(epoch: self.epoch ?? 0, sequence: self.sequences.lowerBound)
        }
        let ring = self.earlier[index].ring
        return TapePosition(epoch: ring.epoch ?? 0, sequence: ring.sequences.lowerBound)
    }

    /// The run that a place lies in, and its number among the earlier ones; `nil` where it is this one.
    func run(at place: TapePosition) -> (ring: TradeRing, earlier: Int?) {
        if let index = self.earlier.firstIndex(where: { $0.ring.epoch == place.epoch }) {
            return (self.earlier[index].ring, index)
        }
        return (self, nil)
    }

    /// What stands between an earlier run and the next one, and where that begins.
    func behind(earlier index: Int) -> (gap: Gap, next: TapePosition) {
        (self.earlier[index].gap, self.start(ofRun: index + 1))
    }

    /// How many trades of a symbol there are from a place on.
    func count(of symbol: String, from place: TapePosition) -> UInt64 {
        let (run, index) = self.run(at: place)
        var count = run.count(of: symbol, from: place.sequence)
        guard let index else { return count }
        for later in (index + 1)..<self.earlier.count { count += self.earlier[later].ring.count(of: symbol, from: 0) }
        return count + self.count(of: symbol, from: 0)
    }
}
