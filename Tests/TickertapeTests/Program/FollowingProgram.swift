import TickertapeTesting

extension RunningProgram {
    /// Waits until the program reports that it follows another program's relay and has no trade yet; `false` after the
    /// time limit.
    ///
    /// The state is "waiting", or "late" if the other program's last trade is then more than 5 s old, as on a slow
    /// machine.
    func follows(relay place: String) async -> Bool {
        await self.printsError(ofAny: ["waiting via \(place)", "late via \(place)"])
    }

    /// Waits until the program prints one of these texts on standard error; `false` after the time limit.
    func printsError(ofAny texts: [String]) async -> Bool {
        await withTaskGroup(of: Bool.self) { group in
            for text in texts { group.addTask { await self.printsError(of: text) } }
            let isSaid = await group.next() ?? false
            group.cancelAll()
            return isSaid
        }
    }
}
