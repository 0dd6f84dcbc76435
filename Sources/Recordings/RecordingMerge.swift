import Market
import NIOCore
import Wire

extension RecordingEdits {
    /// Writes several recordings as one, in the order of their wall clocks.
    ///
    /// Lines of one run that several of them have are written once. The numbers of trades are kept where all are of one
    /// run. The new file reports what is missing in one recording and in no other, and the time between the end of one
    /// and the start of the next.
    package static func merge(
        _ paths: [String],
        to target: String,
        form: RecordingOutputFile.Form
    ) throws(RecordingFailure) -> Result {
        var inputs: [MergeInput] = []
        for path in paths {
            let input = try MergeInput(path, place: inputs.count)
            guard input.header.start != nil else {
                throw RecordingFailure(
                    "\(path) has no wall clock (no header with a start), so it has no place among others"
                )
            }
            inputs.append(input)
        }
        guard !inputs.isEmpty else { throw RecordingFailure("nothing to merge") }
        var merge = try RecordingMerge(inputs, to: target, form: form)
        try merge.run()
        return merge.result
    }
}

/// The merge of recordings into a new file.
private struct RecordingMerge: ~Copyable {
    private let inputs: [MergeInput]
    private var output: RecordingOutputFile
    private let start: Int64
    /// The run's epoch, where all inputs are of one run.
    private let epoch: UInt64?
    /// The lines written so far, of each run that several inputs share.
    private var written: [UInt64: WrittenLines] = [:]
    /// Inputs that have ended since the last line was taken.
    private var ended: [MergeInput] = []
    private var wall: Int64
    private(set) var result = RecordingEdits.Result()

    init(_ inputs: [MergeInput], to target: String, form: RecordingOutputFile.Form) throws(RecordingFailure) {
        let start = inputs.compactMap(\.header.start).min() ?? 0
        var header = RecordingHeader(program: inputs[0].header.program, start: start)
        for input in inputs {
            for symbol in input.header.symbols where !header.symbols.contains(symbol) { header.symbols.append(symbol) }
        }
        let epochs = inputs.map(\.header.epoch)
        if Set(epochs).count == 1 { header.epoch = epochs[0] }
        if Set(inputs.map(\.header.source)).count == 1 { header.source = inputs[0].header.source }
        if Set(inputs.map(\.header.address)).count == 1 { header.address = inputs[0].header.address }
        for epoch in epochs {
            if let epoch, epochs.count(where: { $0 == epoch }) > 1 { self.written[epoch] = WrittenLines() }
        }
        self.inputs = inputs
        self.start = start
        self.wall = start
        self.epoch = header.epoch
        self.output = try RecordingOutputFile(path: target, form: form, header: header)
    }

    mutating func run() throws(RecordingFailure) {
        for input in self.inputs { try input.advance() }
        while let input = self.next(), var line = input.current {
            self.wall = max(self.wall, input.wall)
            for ended in self.ended { try self.reportEnd(of: ended) }
            self.ended = []
            try self.reportLoss(of: input, before: line)
            input.hasBegun = true
            input.follow(line)
            let isRepeat =
                input.header.epoch.map { self.written[$0]?.take(line, at: input.wall, from: input.place) ?? false }
                ?? false
            let lineWall = input.lineWall
            try input.advance()
            if input.current == nil { self.ended.append(input) }
            guard !isRepeat else {
                self.result.duplicates += 1
                continue
            }
            if self.epoch == nil, case .frame(let bytes, _, let dialect) = line.content {
                line.content = .frame(bytes, nil, dialect)
            }
            try self.append(line, wall: lineWall)
        }
        for input in self.ended {
            if let loss = input.postponed ?? input.lossAtEnd { try self.notify(loss, behind: input) }
        }
        try self.output.finish(wall: self.wall)
        self.result.damagedLines = self.inputs.reduce(0) { $0 + $1.damagedLines }
        self.result.frames = self.output.frames
        self.result.lines = self.output.lines
        self.result.files = self.inputs.count
    }

    /// Returns the input with the next line.
    private func next() -> MergeInput? {
        var first: MergeInput?
        for input in self.inputs where input.current != nil {
            if let other = first, !input.precedes(other) { continue }
            first = input
        }
        return first
    }

    /// - Parameter wall: the line's own wall clock, ns since 1970; `nil` for the newest of all.
    private mutating func append(_ line: RecordedLine, wall: Int64? = nil) throws(RecordingFailure) {
        try self.output.append(line, wall: wall ?? self.wall, at: self.wall &- self.start)
    }

    private mutating func notify(
        _ loss: RecordingLoss,
        behind input: MergeInput,
        symbol: String? = nil
    ) throws(RecordingFailure) {
        self.result.losses += 1
        let epoch = input.isOtherRun ? nil : self.epoch
        let next = epoch == nil ? nil : input.nextSequence
        try self.append(loss.line(epoch: epoch, next: next, symbol: symbol))
    }

    // MARK: Losses

    /// Reports the loss before a line of an input, unless another input of the same run has the lines.
    private mutating func reportLoss(of input: MergeInput, before line: RecordedLine) throws(RecordingFailure) {
        if let loss = input.takeLoss() {
            let hasCopy = self.inputs.contains { $0 !== input && $0.isOpen && $0.isCopy(of: input) }
            if hasCopy {
                // The next numbers decide.
                input.postponed = input.postponed?.joined(loss) ?? loss
            } else {
                try self.notify(loss, behind: input)
            }
        }
        if input.isOtherRun, let loss = input.postponed {
            input.postponed = nil
            return try self.notify(loss, behind: input)
        }
        guard let loss = input.postponed, let epoch = input.header.epoch, let numbers = line.sequences else { return }
        input.postponed = nil
        if self.written[epoch]?.reaches(numbers.lowerBound) != true { try self.notify(loss, behind: input) }
    }

    /// Reports that an input has ended, unless another one continues it.
    private mutating func reportEnd(of input: MergeInput) throws(RecordingFailure) {
        if let loss = input.postponed { try self.notify(loss, behind: input) }
        let others = self.inputs.filter { $0 !== input && $0.current != nil }
        let goesOn = others.contains { $0.hasBegun ? $0.isCopy(of: input) : $0.follows(input) }
        guard !goesOn else { return }
        let isSameRun = others.contains { $0.isSameRun(as: input) }
        var loss = RecordingLoss(
            reason: isSameRun
                ? "what the recording had here is in none of the merged files"
                : "one recording ends here, and another begins",
            from: input.endWall,
            to: self.wall
        )
        let open = others.filter(\.hasBegun)
        let symbols = input.header.symbols
        guard !open.isEmpty, !symbols.isEmpty else { return try self.notify(loss, behind: input) }
        for symbol in symbols where !open.contains(where: { $0.header.symbols.contains(symbol) }) {
            let later = others.filter { !$0.hasBegun && $0.header.symbols.contains(symbol) }
            loss.to = max(input.endWall, later.map(\.wall).min() ?? input.endWall)
            try self.notify(loss, behind: input, symbol: symbol)
        }
    }
}
