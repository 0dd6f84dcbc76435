import Logging
import ServiceLifecycle
import UnixSignals

/// A named service, one part of a running program.
struct NamedService: Service {
    let name: String
    private let body: @Sendable () async throws -> Void

    init(_ name: String, body: @escaping @Sendable () async throws -> Void) {
        self.name = name
        self.body = body
    }

    func run() async throws { try await self.body() }

    /// Runs the services until one of them ends or a signal arrives, and stops them from the last to the first.
    ///
    /// - Parameters:
    ///   - hasScreen: whether the program draws a screen, in which case SIGHUP ends it.
    ///   - reload: what SIGHUP loads again, if SIGHUP does not end the program.
    static func run(_ parts: [NamedService], hasScreen: Bool = false, reload: ProgramReload? = nil) async throws {
        var parts = parts
        var signals: [UnixSignal] = [.sigterm, .sigint]
        if SignalHandling.hangUpEndsProgram(hasScreen: hasScreen) {
            signals.append(.sighup)
        } else {
            parts.insert(SignalServices.reload(reload), at: 0)
        }
        let services = ServiceGroup(
            configuration: Self.configuration(for: parts, signals: signals, logger: ProgramLog.silent)
        )
        do {
            try await services.run()
        } catch let error as ServiceGroupError where error.errorCode == .serviceFinishedUnexpectedly {
            // Two services ended at once, such as after a Ctrl-C that reached this program and the reader of its pipe.
            // All have stopped.
        }
    }

    /// Returns the group's configuration: the end of any service ends the program, and so do the signals.
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
        // Each service has its own time limit; the longest are those for a disk that hangs (`WorkQueue.patience`, in
        // the recorder and in the history). This limit covers a service whose own one fails.
        configuration.maximumGracefulShutdownDuration = .seconds(25)
        return configuration
    }
}
