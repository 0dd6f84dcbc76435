import Market

extension Assembly {
    /// Plays a recording through everything that live trades go through, to its end or until it is stopped.
    package static func replay(_ order: ReplayOrder, _ settings: Settings) async throws {
        EarlyStop.take()
        let recording = try OperatorError.opening(recording: order.recording)
        if settings.origin(of: .symbols) != .builtIn {
            try RecordedSymbols.check(settings.finnhub.symbols, in: recording)
        }
        var replay = InnerReplay(
            settings: settings,
            material: .recording(recording),
            speed: order.speed.factor,
            source: .replay(file: RecordingName.last(of: order.recording), speed: order.speed.factor)
        )
        replay.waitsForClient = order.waitsForClient
        replay.part = order.part
        replay.isPaused = order.isPaused
        try await replay.run()
    }
}
