import Logging
import NIOPosix
import Relay
import ServiceLifecycle
import UnixSignals

extension TickerProgram {
    /// Runs the parts until one of them ends or a signal comes, and stops them from the last to the first.
    ///
    /// - Parameters:
    ///   - hasScreen: whether the screen is drawn, which a hangup ends.
    ///   - certificate: what SIGHUP loads again where it is not the end.
    static func live(_ parts: [ProgramPart], hasScreen: Bool = false, certificate: RelayTLS? = nil) async throws {
        var parts = parts
        var signals: [UnixSignal] = [.sigterm, .sigint]
        if HangUp.endsProgram(hasScreen: hasScreen) {
            signals.append(.sighup)
        } else {
            parts.insert(HangUp.part(certificate: certificate), at: 0)
        }
        let services = ServiceGroup(
            configuration: Self.configuration(for: parts, signals: signals, logger: ProgramLog.silent)
        )
        do {
            try await services.run()
        } catch let error as ServiceGroupError where error.errorCode == .serviceFinishedUnexpectedly {
            // Two ends at once, such as Ctrl-C for this program and for the reader of its pipe: all parts have stopped.
        }
    }

    /// The life of the parts: a part that ends ends the program, and so do the signals.
    static func configuration(
        for parts: [ProgramPart],
        signals: [UnixSignal] = [.sigterm, .sigint, .sighup],
        logger: Logger
    ) -> ServiceGroupConfiguration {
        var configuration = ServiceGroupConfiguration(
            services: parts.map { part in
                ServiceGroupConfiguration.ServiceConfiguration(
                    service: part,
                    successTerminationBehavior: .gracefullyShutdownGroup,
                    failureTerminationBehavior: .gracefullyShutdownGroup,
                    serviceName: part.name
                )
            },
            gracefulShutdownSignals: signals,
            logger: logger
        )
        // Each part keeps limits of its own, of which those for a disk that hangs are the longest (`WorkQueue.patience`, for the
        // recorder and for the history); this is for the part that does not.
        configuration.maximumGracefulShutdownDuration = .seconds(25)
        return configuration
    }
}

extension MultiThreadedEventLoopGroup {
    /// How long the end of the loops is waited for, after everything on them has been told to close.
    private static let endLimit = Duration.milliseconds(200)

    /// Ends the loops, without letting a peer that does not answer hold up the program's end.
    func end() async {
        let (stream, continuation) = AsyncStream.makeStream(of: Void.self)
        self.shutdownGracefully { _ in continuation.yield() }
        let timer = Task {
            try await Task.sleep(for: Self.endLimit)
            continuation.yield()
        }
        for await _ in stream { break }
        timer.cancel()
    }
}
