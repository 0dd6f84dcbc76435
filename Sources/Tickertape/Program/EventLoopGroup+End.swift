import NIOPosix
import Platform

extension MultiThreadedEventLoopGroup {
    /// How long the end of the loops is waited for, after everything on them has been told to close.
    private static let endLimit = Duration.milliseconds(200)

    /// Ends the loops, without letting a peer that does not answer hold up the program's end.
    func end() async {
        let _: Void? = await withTimeLimit(Self.endLimit) {
            await withCheckedContinuation { (ended: CheckedContinuation<Void, Never>) in
                self.shutdownGracefully { _ in ended.resume() }
            }
        }
    }
}
