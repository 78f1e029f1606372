//! Named expressions and tables in forces: machines move as with the formula that they stand for.

const HINGE: &str = "
[simulation]
end-time = 2
step = 1e-2
[[body]]
name = 'arm'
mass = 2
inertia = [0.1, 0.1, 0.1]
position = [0.5, 0, 0]
[[revolute]]
name = 'hinge'
bodies = ['ground', 'arm']
point = [0, 0, 0]
axis = [0, 1, 0]
";

fn angle(more: &str) -> Vec<f64> {
    super::machine(&format!("{HINGE}{more}")).simulate().unwrap().signal("hinge.angle").unwrap().to_vec()
}

/// Motions that differ by rounding alone.
fn assert_same(left: &[f64], right: &[f64]) {
    assert_eq!(left.len(), right.len());
    assert!(left.iter().any(|angle| angle.abs() > 0.5), "something moves");
    for (left, right) in left.iter().zip(right) {
        // Newton's tolerance of 1e-10, in 200 steps of a motion that is not chaotic.
        assert!((left - right).abs() < 1e-8, "{left} {right}");
    }
}

#[test]
fn a_straight_table_over_an_angle_is_a_linear_spring() {
    let formula = angle("[[joint-force]]\njoint = 'hinge'\ntorque = '-12*hinge.angle'\n");
    for table in [
        "points = [[-10, 120], [10, -120]]",
        "points = [[-573, 0.12], [573, -0.12]]\nx-unit = 'deg'\nvalue-unit = 'kN*m'",
        "points = [[-1, 12], [0, 0], [0.3, -3.6], [2, -24]]\noutside = 'continue'\ninterpolation = 'linear'",
    ] {
        let table = if table.contains("deg") {
            // ±573° is ±10.0007 rad.
            table.replace("0.12", &format!("{}", 0.012 * 573.0_f64.to_radians()))
        } else {
            table.to_owned()
        };
        let more = format!(
            "[[table]]\nname = 'pull'\n{table}\n[expressions]\nstiff = 'pull(hinge.angle)'\n\
             [[joint-force]]\njoint = 'hinge'\ntorque = 'stiff'\n"
        );
        assert_same(&angle(&more), &formula);
    }
}

#[test]
fn a_grid_over_angle_and_speed_is_the_product_that_it_holds() {
    let formula =
        angle("[[joint-force]]\njoint = 'hinge'\ntorque = '-(3 + hinge.angle)*(1 + 0.2*hinge.angle-rate)'\n");
    let grid = "[[table]]\nname = 'map'\nx = [-4, 0, 5]\ny = [-10, 0, 3, 20]\n\
        values = [[-1, 1, 1.6, 5], [3, -3, -4.8, -15], [8, -8, -12.8, -40]]\noutside = 'continue'\n";
    for interpolation in ["smooth", "linear"] {
        let more = format!(
            "{grid}interpolation = '{interpolation}'\ny-outside = 'continue'\n\
             [[joint-force]]\njoint = 'hinge'\ntorque = 'map(hinge.angle, hinge.angle-rate)'\n"
        );
        assert_same(&angle(&more), &formula);
    }
}

#[test]
fn a_table_that_repeats_itself_is_periodic_over_many_turns() {
    // Sixty points of a sine: the spline differs from it by less than 2e-7.
    let points: Vec<String> = (0..=60)
        .map(|k| f64::from(k) * std::f64::consts::TAU / 60.0)
        .map(|x| format!("[{x}, {}]", if x > 6.2 { 0.0 } else { x.sin() }))
        .collect();
    let spin = "[gravity]\nacceleration = [0, 0, 0]\n[[joint-force]]\njoint = 'hinge'\n";
    let formula = angle(&format!("{spin}torque = '20 + 5*sin(hinge.angle)'\n"));
    let table = format!("[[table]]\nname = 'wave'\npoints = [{}]\noutside = 'repeat'\n", points.join(", "));
    let found = angle(&format!("{table}{spin}torque = '20 + 5*wave(hinge.angle)'\n"));
    assert!(formula[formula.len() - 1] > 20.0, "more than three turns");
    for (found, formula) in found.iter().zip(&formula) {
        assert!((found - formula).abs() < 1e-5, "{found} {formula}");
    }
}

#[test]
fn numbers_stand_in_files_beside_the_model() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    write(
        "pull.csv",
        "# measured\nangle [deg], pull [kN*m]\n-57.29577951308232, 0.012\n57.29577951308232,-0.012\n",
    );
    write("many.csv", "time;angle;pull\n0;-1;12\n1;1;-12\n");
    write("grid.csv", "\t-10\t10\n-1\t12\t12\n1\t-12\t-12\n");
    let formula = angle("[[joint-force]]\njoint = 'hinge'\ntorque = '-12*hinge.angle'\n");
    for (keys, call) in [
        ("file = 'pull.csv'", "pull(hinge.angle)"),
        ("file = 'many.csv'\nx-column = 'angle'\nvalue-column = 'pull'", "pull(hinge.angle)"),
        ("file = 'grid.csv'", "pull(hinge.angle, hinge.angle-rate)"),
    ] {
        let more = format!(
            "[[table]]\nname = 'pull'\noutside = 'continue'\n{keys}\n[[joint-force]]\njoint = 'hinge'\ntorque = '{call}'\n"
        );
        write("model.toml", &format!("{HINGE}{more}"));
        let machine = kreisel::read(folder.path().join("model.toml")).unwrap();
        assert_same(machine.simulate().unwrap().signal("hinge.angle").unwrap(), &formula);
    }
    for (content, reason) in [
        ("0,1\n1,nan\n", "line 2 of the file `pull.csv` must be made of finite numbers, not `nan`"),
        ("0,1\n1,x\n", "not `x`"),
        ("0,1\n1\n", "line 2 of the file `pull.csv` must be 2 columns wide, not 1"),
        ("0;1\n1,5;2\n", "the decimal sign is a point"),
        ("1\n2\n", "at least two columns, not 1"),
        ("", "at least two columns, not 0"),
        ("0,1\n0,2\n", "ascending points, not 0 after 0"),
        ("a,b,c\n1,2,3\n", "name `x-column` and `value-column`"),
        ("a [deg],b [furlong]\n1,2\n2,3\n", "a table whose units are known, not `furlong`"),
    ] {
        write("pull.csv", content);
        write("model.toml", &format!("{HINGE}[[table]]\nname = 'pull'\nfile = 'pull.csv'\n"));
        let error = kreisel::read(folder.path().join("model.toml")).err().unwrap().to_string();
        assert!(error.contains(reason), "{content}: {error}");
    }
}

#[test]
fn an_included_file_knows_the_tables_of_the_model_and_its_own_expressions() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    write(
        "motor.toml",
        "[expressions]\nneeded = 'pull(hinge.angle)'\n[[joint-force]]\njoint = 'hinge'\ntorque = 'needed'\n",
    );
    let arm = HINGE.split("[[body]]").nth(1).unwrap();
    write("arm.toml", &format!("include = ['motor.toml']\n[[body]]{arm}"));
    write(
        "model.toml",
        "[simulation]\nend-time = 2\nstep = 1e-2\n[[table]]\nname = 'pull'\npoints = [[-10, 120], [10, -120]]\n\
         [[include]]\nfile = 'arm.toml'\nprefix = 'left-'\n",
    );
    let formula = angle("[[joint-force]]\njoint = 'hinge'\ntorque = '-12*hinge.angle'\n");
    let machine = kreisel::read(folder.path().join("model.toml")).unwrap();
    assert_same(machine.simulate().unwrap().signal("left-hinge.angle").unwrap(), &formula);
}

#[test]
fn one_force_may_use_all_that_four_bodies_show() {
    let others: String = (0..3)
        .map(|k| {
            format!("[[point-mass]]\nname = 'p{k}'\nmass = 1\nposition = [{k}, 1, 2]\nvelocity = [0.1, {k}, 0.3]\n")
        })
        .collect();
    let of = |body: &str| {
        let words = ["position", "velocity"]
            .into_iter()
            .flat_map(|quantity| ["x", "y", "z"].map(|axis| format!("{body}.{quantity}.{axis}")));
        words.collect::<Vec<_>>().join(" + ")
    };
    let push = |terms: &str| format!("[[joint-force]]\njoint = 'hinge'\ntorque = '0.3*({terms})'\n");
    let all = ["arm", "p0", "p1", "p2"].map(of);
    let apart: String = all.iter().map(|terms| push(terms)).collect();
    let together = push(&format!("{} + hinge.angle + hinge.angle-rate", all.join(" + ")));
    let apart = format!("{others}{apart}{}", push("hinge.angle + hinge.angle-rate"));
    assert_same(&angle(&format!("{others}{together}")), &angle(&apart));
}
