// The paper's middleware: a spatial index tells who enters and leaves, and a CEP engine has the patterns on top.
//
// java Peer SQUARES READINGS STAY_S MATCHES
//   squares    pair,kind,x1,y1,x2,y2     kind 0 is a school, 1 the place nearby
//   readings   ts,id,x,y,offender        in order of ts, all of a tick together
//   matches    written: pair,id,came,back
// It prints how many readings there were, the seconds of this thread's processor time, and the events it made.

import com.espertech.esper.common.client.EPCompiled;
import com.espertech.esper.common.client.configuration.Configuration;
import com.espertech.esper.compiler.client.CompilerArguments;
import com.espertech.esper.compiler.client.EPCompilerProvider;
import com.espertech.esper.runtime.client.EPEventService;
import com.espertech.esper.runtime.client.EPRuntime;
import com.espertech.esper.runtime.client.EPRuntimeProvider;
import java.io.PrintWriter;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.locationtech.jts.geom.Envelope;
import org.locationtech.jts.index.strtree.STRtree;

public class Peer {
  public record Area(int pair, int kind, double x1, double y1, double x2, double y2) {
    boolean holds(double x, double y) {
      return x1 <= x && x <= x2 && y1 <= y && y <= y2;
    }
  }

  public abstract static class Change {
    private final long id;
    private final int pair, kind;

    Change(long id, int pair, int kind) {
      this.id = id;
      this.pair = pair;
      this.kind = kind;
    }

    public long getId() { return id; }
    public int getPair() { return pair; }
    public int getKind() { return kind; }
  }

  // Neither is one of the other: Esper would take it for both.
  public static class Enter extends Change {
    public Enter(long id, int pair, int kind) { super(id, pair, kind); }
  }

  public static class Exit extends Change {
    public Exit(long id, int pair, int kind) { super(id, pair, kind); }
  }

  static final String EPL = """
      create schema Dwell(id long, pair int, kind int, reached long);
      insert into Dwell select e.id as id, e.pair as pair, e.kind as kind, current_timestamp() as reached
        from pattern [every e=Enter -> (timer:interval(%d sec) and not Exit(id=e.id, pair=e.pair, kind=e.kind))];
      @name('out') select a.pair as pair, a.id as id, a.reached as came, c.reached as back
        from pattern [every a=Dwell(kind=0) -> (b=Dwell(id=a.id, pair=a.pair, kind=1) where timer:within(1 hour))
                      -> c=Dwell(id=a.id, pair=a.pair, kind=0)];
      """;

  public static void main(String[] args) throws Exception {
    STRtree areas = new STRtree();
    for (String line : Files.readAllLines(Path.of(args[0]))) {
      String[] v = line.split(",");
      double[] at = new double[4];
      for (int i = 0; i < 4; i++) at[i] = Double.parseDouble(v[i + 2]);
      areas.insert(new Envelope(at[0], at[2], at[1], at[3]),
          new Area(Integer.parseInt(v[0]), Integer.parseInt(v[1]), at[0], at[1], at[2], at[3]));
    }
    areas.build();
    double[][] readings = Files.readAllLines(Path.of(args[1])).stream()
        .map(line -> java.util.Arrays.stream(line.split(",")).mapToDouble(Double::parseDouble).toArray())
        .toArray(double[][]::new);

    Configuration configuration = new Configuration();
    configuration.getCommon().addEventType(Enter.class);
    configuration.getCommon().addEventType(Exit.class);
    configuration.getRuntime().getThreading().setInternalTimerEnabled(false);
    EPCompiled compiled = EPCompilerProvider.getCompiler()
        .compile(EPL.formatted(Integer.parseInt(args[2])), new CompilerArguments(configuration));
    EPRuntime runtime = EPRuntimeProvider.getRuntime("peer", configuration);
    EPEventService events = runtime.getEventService();
    events.advanceTime(0);
    String deployment = runtime.getDeploymentService().deploy(compiled).getDeploymentId();
    List<String> matches = new ArrayList<>();
    runtime.getDeploymentService().getStatement(deployment, "out").addListener((rows, old, s, r) -> {
      for (var row : rows) {
        matches.add(row.get("pair") + "," + row.get("id") + "," + row.get("came") + "," + row.get("back"));
      }
    });

    Map<Long, List<Area>> within = new HashMap<>();
    List<Enter> entered = new ArrayList<>();
    long sent = 0, started = ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime();
    for (int i = 0; i < readings.length;) {
      double tick = readings[i][0];
      entered.clear();
      for (; i < readings.length && readings[i][0] == tick; i++) {
        double[] r = readings[i];
        if (r[4] != 1) continue;
        long id = (long) r[1];
        List<Area> now = new ArrayList<>();
        for (Object found : areas.query(new Envelope(r[2], r[2], r[3], r[3]))) {
          if (((Area) found).holds(r[2], r[3])) now.add((Area) found);
        }
        List<Area> before = within.getOrDefault(id, List.of());
        // Who is gone at a tick has not been there long enough at it: exits come before its time.
        for (Area a : before) {
          if (!now.contains(a)) {
            events.sendEventBean(new Exit(id, a.pair(), a.kind()), "Exit");
            sent++;
          }
        }
        for (Area a : now) {
          if (!before.contains(a)) entered.add(new Enter(id, a.pair(), a.kind()));
        }
        if (now.isEmpty()) within.remove(id); else within.put(id, now);
      }
      events.advanceTime((long) tick * 1000);
      for (Enter e : entered) events.sendEventBean(e, "Enter");
      sent += entered.size();
    }
    double seconds = (ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime() - started) / 1e9;
    try (PrintWriter out = new PrintWriter(args[3])) {
      matches.forEach(out::println);
    }
    System.out.println(readings.length + " " + seconds + " " + sent);
  }
}
