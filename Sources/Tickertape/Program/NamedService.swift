import Logging
import Relay
import ServiceLifecycle
import UnixSignals

/// One part of a running program, as a service with a name.
struct NamedService: Service {
    let name: String
    private let body: @Sendable () async throws -> Void

    init(_ name: String, body: @escaping @Sendable () async throws -> Void) {
        self.name = name
        self.body = body
    }

    func run() async throws { try await self.body() }

    /// Runs the parts until one of them ends or a signal comes, and stops them from the last to the first.
    ///
    /// - Parameters:
    ///   - hasScreen: whether the screen is drawn, which a hangup ends.
    ///   - certificate: what SIGHUP loads again where it is not the end.
    static func run(_ parts: [NamedService], hasScreen: Bool = false, certificate: RelayTLS? = nil) async throws {
        var parts = parts
        var signals: [UnixSignal] = [.sigterm, .sigint]
        if SignalHandling.hangUpEndsProgram(hasScreen: hasScreen) {
            signals.append(.sighup)
        } else {
            parts.insert(SignalServices.reload(certificate), at: 0)
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
        for parts: [NamedService],
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
