import Market
import NIOCore

// The end of keeping a connection, whoever wanted it.
extension ConnectionKeeper {
    /// Ends everything, once: nothing is opened or looked at any more, and the key is free.
    func finish(_ result: Result<Void, any Error>) {
        if case .finished = self.state { return }
        self.state = .finished
        self.proof?.cancel()
        self.patrolTimer?.cancel()
        self.follow(nil)
        // Whoever waits for the key finds it free as soon as our own connection is gone.
        self.files.close {
            if self.isStopping { self.report(.stopped, nil, nil) }
            self.finished.completeWith(result)
        }
    }
}
